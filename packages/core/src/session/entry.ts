import { noUsage } from '../messages/usage.ts'
import type { SessionScope } from '../rings/session/session-scope.ts'
import type { BeginningRun, StoredTurn } from '../seams/session-store.ts'
import type { AbortableWaits } from './abortable-waits.ts'
import { beginKeepers } from './keepers.ts'

/** Acquires the session for an entry without a run. It has no key, and it can be aborted only through `waits`. */
export async function beginEntry(scope: SessionScope, waits: AbortableWaits): Promise<void> {
  const beginning: BeginningRun = {
    get turnId() {
      return scope.comingTurnId
    },
    given: false,
    replays: false,
    idempotencyKey: undefined,
    inputDigest: undefined,
    abort() {},
    get signal() {
      return waits.cancel.signal
    },
  }
  await beginKeepers(scope, beginning, waits)
}

/** Returns the current session as an entry, with the history from an index on. */
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
