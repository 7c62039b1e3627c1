/** Returns a tool call in words. Add a line for each of your tools; others are shown as JSON. */
export function describeCall(name: string, args: unknown): string {
  const { number, cents } = args as { number?: unknown; cents?: unknown }
  if (name === 'find_order') return `Look up order ${number}`
  if (name === 'refund') return `Refund $${(Number(cents) / 100).toFixed(2)} for order ${number}`
  return `${name} ${JSON.stringify(args)}`
}
