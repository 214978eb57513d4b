/** Something outside failed. `message` says what could not be done; `cause` keeps what the outside said. */
export class PortError extends Error {
  override readonly name: string = 'PortError';
}
