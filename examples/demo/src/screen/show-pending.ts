import type { PendingCall } from 'allium'
import type { Screen } from './screen.ts'

/** Prints a pending call: its arguments, and why it needs approval. */
export function showPending({ name, args, request }: PendingCall, screen: Screen): void {
  const { reason = 'It needs a decision.' } = (request ?? {}) as { reason?: string }
  screen.line('pending', `${name} ${JSON.stringify(args)}`, 'yellow')
  screen.line('', reason)
}
