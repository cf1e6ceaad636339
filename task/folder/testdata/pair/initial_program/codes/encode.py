def write(n):
    code = ""
    while n:
        code += str(n % 8)
        n //= 8
    return code
