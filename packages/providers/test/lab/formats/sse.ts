/** One server-sent event. */
export function data(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** An event that is named by its type. */
export function typed(type: string, rest: object = {}): string {
  return `event: ${type}\n${data({ type, ...rest })}`
}
