/** A row that nothing but damage can have made. */
export class DamagedRecordError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DamagedRecordError';
  }
}
