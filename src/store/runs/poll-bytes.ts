/** The bytes are not a run of polls: they are cut, altered or of a version that this program does not know. */
export class PollCodecError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PollCodecError';
  }
}

/** Bytes that grow at their end. Numbers are whole and not negative; varints are little-endian, base 128. */
export class ByteWriter {
  #buffer: Uint8Array;
  #length: number;

  /** Starts with a copy of the given bytes. */
  constructor(bytes: Uint8Array) {
    this.#buffer = Uint8Array.from(bytes);
    this.#length = bytes.length;
  }

  get length(): number {
    return this.#length;
  }

  /** All bytes so far. A view: valid until the next `reserve`. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Makes room for bytes. Call it before they are written: bytes without room are lost. */
  reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.ceil(Math.max(64, this.#buffer.length * 1.25, this.#length + count)));
    larger.set(this.bytes());
    this.#buffer = larger;
  }

  byte(byte: number): void {
    this.#buffer[this.#length++] = byte;
  }

  /** Writes up to eight bytes. */
  varint(value: number): void {
    let rest = value;
    // Bitwise operators cut to 32 bits, so a larger number is divided down first.
    while (rest > 0x7fffffff) {
      this.byte((rest % 128) | 0x80);
      rest = Math.floor(rest / 128);
    }
    while (rest > 0x7f) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.byte(rest);
  }
}

/** Eight bytes hold every safe integer. */
const maxVarintScale = 2 ** 56;

/** A position in bytes. Throws `PollCodecError` on reading past their end. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #position: number;

  constructor(bytes: Uint8Array, position: number) {
    this.#bytes = bytes;
    this.#position = position;
  }

  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  byte(): number {
    const byte = this.#bytes[this.#position++];
    if (byte === undefined) throw new PollCodecError('stored polls are cut off');
    return byte;
  }

  varint(): number {
    let byte = this.byte();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 128;
    do {
      byte = this.byte();
      value += (byte & 0x7f) * scale;
      scale *= 128;
      if (value > Number.MAX_SAFE_INTEGER || scale > maxVarintScale)
        throw new PollCodecError('a stored number is too large');
    } while (byte >= 0x80);
    return value;
  }
}
