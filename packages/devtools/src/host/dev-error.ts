/** An error of a route of the inspector, with the status of the response. */
export class DevError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}
