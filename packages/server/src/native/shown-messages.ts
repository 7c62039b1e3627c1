import type { Message, PendingCall, StoredSession } from '@allium/core'
import type { Visit } from '../visit.ts'
import { type UiMessage, uiMessages } from './ui-messages.ts'

/** The history as a page shows it: with what waits for its owner's decision, and, while a run goes on, up to its input. */
export async function shownMessages(asks: Visit, sessionId: string, stored: StoredSession): Promise<UiMessage[]> {
  return uiMessages(historyOf(stored), await waitingIn(asks, sessionId, stored))
}

/** The calls that wait in a session, for its owner. */
export async function waitingIn(
  { agent, principal }: Visit,
  sessionId: string,
  { rest }: StoredSession,
): Promise<readonly PendingCall[]> {
  if (rest.suspension === undefined) return []
  const session = agent.session({ id: sessionId, principal: principal as never })
  await session.open()
  try {
    return session.pending
  } finally {
    await session.close()
  }
}

/** The answer of a run that goes on comes in its stream. */
function historyOf({ history, open }: StoredSession): Message[] {
  if (open === undefined) return history
  const input = open.messages.findIndex(({ role }) => role === 'assistant')
  return [...history.slice(0, open.from), ...open.messages.slice(0, input === -1 ? undefined : input)]
}
