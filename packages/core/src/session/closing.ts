import { equalJson } from '../messages/json.ts'
import { noUsage } from '../messages/usage.ts'
import type { SessionScope } from '../rings/session/session-scope.ts'
import type { BeginningRun, StoredTurn } from '../seams/session-store.ts'
import { giveBack } from './task.ts'

/**
 * For a session that somebody stores: gives what stores, after its layers have closed, the state and the messages that they
 * still wrote, as an entry with the status `closed`.
 */
export function closing(scope: SessionScope): (() => Promise<void>) | undefined {
  const { keepers = [] } = scope
  if (keepers.length === 0) return undefined
  const before = scope.state.persistent()
  const { length } = scope.history.items
  return async () => {
    if (scope.history.items.length === length && equalJson(before, scope.state.persistent())) return
    await begin(scope)
    const entry = entryOf(scope)
    for (const keeper of keepers) await keeper.end?.(entry)
    scope.isStored(entry.from + entry.messages.length)
  }
}

async function begin(scope: SessionScope): Promise<void> {
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
    idempotencyKey: undefined,
    inputDigest: undefined,
    abort() {},
  }
}

function entryOf(scope: SessionScope): StoredTurn {
  const { version, name, clock } = scope.agent.setup
  const from = Math.min(scope.stored, scope.history.items.length)
  const { history: messages, ...rest } = scope.snapshot(from)
  const turnId = scope.nextTurnId()
  const now = clock.now()
  return {
    turnId,
    rootId: turnId,
    agent: name,
    ...(version !== undefined && { version }),
    status: 'closed',
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
