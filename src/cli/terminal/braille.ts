/** Dots of a braille character by column (0, 1) and row from the top (0 to 3), Unicode block U+2800. */
const dots = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

/** A drawing of dots, two wide and four high in each character. Coordinates count from the top left. */
export interface Canvas {
  readonly dotsWide: number;
  readonly dotsHigh: number;
  /** Sets the dots from `top` to `bottom`, both included; what lies outside is left out. */
  drawColumn(x: number, top: number, bottom: number): void;
  /** One text a line, each `columns` characters long, blank where nothing was drawn. */
  lines(): string[];
}

export function createCanvas(columns: number, rows: number): Canvas {
  const cells = Array.from({ length: rows }, () => new Uint8Array(columns));
  return {
    dotsWide: columns * 2,
    dotsHigh: rows * 4,
    drawColumn(x, top, bottom) {
      for (let y = Math.max(0, top); y <= Math.min(rows * 4 - 1, bottom); y++) {
        const row = cells[y >> 2];
        const column = x >> 1;
        if (row !== undefined && column >= 0 && column < columns) {
          row[column] = (row[column] ?? 0) | (dots[x & 1 ? 1 : 0][(y & 3) as 0 | 1 | 2 | 3] ?? 0);
        }
      }
    },
    lines: () => cells.map((row) => Array.from(row, brailleCharacter).join('')),
  };
}

function brailleCharacter(pattern: number): string {
  return pattern === 0 ? ' ' : String.fromCodePoint(0x2800 + pattern);
}
