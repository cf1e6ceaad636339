// Packs n circles into the unit square: centers on two rings around a middle circle, then radii as
// large as a simple rule lets them be.

function pack() {
  const n = 26;
  const centers = [];

  // One circle in the middle.
  centers.push([0.5, 0.5]);

  // A ring of 8 around it.
  for (let i = 0; i < 8; i++) {
    const angle = (2 * Math.PI * i) / 8;
    centers.push([0.5 + 0.3 * Math.cos(angle), 0.5 + 0.3 * Math.sin(angle)]);
  }

  // A ring of 16 around that one. It is larger than the square: clipping brings it inside.
  for (let i = 0; i < 16; i++) {
    const angle = (2 * Math.PI * i) / 16;
    centers.push([0.5 + 0.7 * Math.cos(angle), 0.5 + 0.7 * Math.sin(angle)]);
  }

  while (centers.length < n) {
    centers.push([0, 0]);
  }
  const inside = centers.map(([x, y]) => [clip(x, 0.01, 0.99), clip(y, 0.01, 0.99)]);
  return { centers: inside, radii: largestRadii(inside) };
}

function clip(v, low, high) {
  return Math.min(Math.max(v, low), high);
}

// Starts every radius at the distance to the border, then shrinks both circles of each pair that
// overlaps until they touch.
function largestRadii(centers) {
  const radii = centers.map(([x, y]) => Math.min(x, y, 1 - x, 1 - y));
  for (let i = 0; i < centers.length; i++) {
    for (let j = i + 1; j < centers.length; j++) {
      const dx = centers[i][0] - centers[j][0];
      const dy = centers[i][1] - centers[j][1];
      const distance = Math.sqrt(dx * dx + dy * dy);
      if (radii[i] + radii[j] > distance) {
        const scale = distance / (radii[i] + radii[j]);
        radii[i] *= scale;
        radii[j] *= scale;
      }
    }
  }
  return radii;
}
