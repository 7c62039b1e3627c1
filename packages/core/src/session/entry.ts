import { noUsage } from '../messages/usage.ts'
import type { SessionScope } from '../rings/session/session-scope.ts'
import type { BeginningRun, StoredTurn } from '../seams/session-store.ts'
import { giveBack } from './task.ts'

/** Takes a session for an entry that is nobody's run. */
export async function beginEntry(scope: SessionScope): Promise<void> {
  const { keepers = [] } = scope
  let begun = 0
  try {
    for (; begun < keepers.length; begun++) await keepers[begun]?.begin?.(beginning(scope))
  } catch (error) {
    await giveBack(scope, begun)
    throw error
  }
}

/** What it writes is nobody's run: it has no key, and nothing to abort. */
function beginning(scope: SessionScope): BeginningRun {
  return {
    get turnId() {
      return scope.comingTurnId
    },
    given: false,
    replays: false,
    idempotencyKey: undefined,
    inputDigest: undefined,
    abort() {},
  }
}

/** The session as it stands, as an entry: of the history the part from an index on. */
export function entryOf(scope: SessionScope, status: 'closed' | 'rewound', from: number): StoredTurn {
  const { version, name, clock } = scope.agent.setup
  const { history: messages, ...rest } = scope.snapshot(from)
  const turnId = scope.nextTurnId()
  const now = clock.now()
  return {
    turnId,
    rootId: turnId,
    agent: name,
    ...(version !== undefined && { version }),
    status,
    startedAt: now,
    endedAt: now,
    usage: noUsage(),
    answer: null,
    records: [],
    from,
    messages,
    rest,
  }
}
