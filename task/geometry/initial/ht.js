// Places n points in the equilateral triangle with the corners (0, 0), (1, 0) and (0.5, sqrt(3) / 2).

function place() {
  return [
    [0.0, 0.0],
    [0.0, 0.0],
    [0.0, 0.0],
    [0.0, 0.0],
    [0.0, 0.0],
    [0.0, 0.0],
    [0.0, 0.0],
    [0.0, 0.0],
    [0.0, 0.0],
    [0.0, 0.0],
    [0.0, 0.0],
  ];
}
