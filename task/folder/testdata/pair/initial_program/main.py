from codes.encode import write
from codes.decode import read
