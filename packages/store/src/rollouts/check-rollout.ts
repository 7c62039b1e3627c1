import { AlliumError } from '@allium/core'
import type { RunKey } from '../event-log.ts'
import type { RolloutTurn } from '../rollout-store.ts'
import { checkStoreName } from '../store-name.ts'

/** Returns a private copy of the key of a turn. @throws AlliumError `store.key` */
export function checkRolloutRun(rollout: string, { key, turnId }: RunKey): RunKey {
  checkStoreName('name of the rollout', rollout)
  checkStoreName('tenant', key.tenant)
  checkStoreName('owner', key.owner)
  checkStoreName('agent of the session', key.agent)
  checkStoreName('session id', key.sessionId)
  return { key: { ...key }, turnId: checkStoreName('id of the turn', turnId) }
}

/** Returns a private copy of a turn. @throws AlliumError `store.key` */
export function checkRolloutTurn(turn: RolloutTurn): RolloutTurn {
  const run = checkRolloutRun(turn.rollout, turn.run)
  checkStoreName('user of the rollout', turn.user)
  checkNumber('turns', turn.turns, Number.isInteger(turn.turns) && turn.turns >= 1 && turn.turns <= 100, '1 to 100')
  checkNumber('windowMs', turn.windowMs, turn.windowMs > 0 && turn.windowMs <= 1e12, 'above 0')
  checkNumber('maxDrop', turn.maxDrop, turn.maxDrop >= 0 && turn.maxDrop < 1, '0 to below 1')
  checkNumber('alpha', turn.alpha, turn.alpha > 0 && turn.alpha < 1, 'between 0 and 1')
  return { ...turn, run }
}

/** @throws AlliumError `store.key` */
export function checkScore(score: number | undefined): number | undefined {
  if (score !== undefined) checkNumber('score', score, score >= 0 && score <= 1, '0 to 1')
  return score
}

/** @throws AlliumError `store.key` */
export function checkLimit(limit = 100): number {
  checkNumber('limit', limit, Number.isInteger(limit) && limit >= 1 && limit <= 10_000, '1 to 10,000')
  return limit
}

function checkNumber(what: string, value: unknown, isValid: boolean, range: string): void {
  if (typeof value === 'number' && isValid) return
  throw new AlliumError('store.key', `The ${what} of a rollout is ${String(value)}. Pass a number: ${range}.`, {
    details: { what },
  })
}
