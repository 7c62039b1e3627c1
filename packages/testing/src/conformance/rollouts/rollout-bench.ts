import type { SessionKey, Writer } from '@allium/core'
import type { RolloutArm, RolloutStore, RolloutTurn, RunKey, SessionStore } from '@allium/store'
import { Nonconformance } from '../check.ts'
import { chat, nowOf } from '../store/bench.ts'

/** A store of rollouts, and the sessions with whose owners they are erased. */
export interface RolloutStoreParts {
  readonly rollouts: RolloutStore
  readonly sessions: SessionStore
}

/** The test bench of a case. */
export interface RolloutBench extends RolloutStoreParts {
  /** The same data as another process sees it; the parts themselves if they cannot be opened again. */
  other: RolloutStoreParts
  /** The duration of a lease, in milliseconds. */
  lease: number
  /** Lets time pass. */
  wait(ms: number): Promise<void>
}

/** The cases of one file by name. */
export type RolloutCases = Readonly<Record<string, (bench: RolloutBench) => Promise<void>>>

/** The rollout of the cases. */
export const tone = 'tone'

/** Returns a run of the owner "ann", or of another one. */
export function runOf(turnId: string, key: Partial<SessionKey> = {}): RunKey {
  return { key: { ...chat, ...key }, turnId }
}

/** Returns a turn of the user "ann", whose window has two turns and is open for a day. */
export function turnOf(turnId: string, more: Partial<RolloutTurn> = {}, key: Partial<SessionKey> = {}): RolloutTurn {
  return {
    ...{ rollout: tone, run: runOf(turnId, key), user: key.owner ?? chat.owner, isCanary: true },
    ...{ turns: 2, windowMs: 86_400_000, maxDrop: 0.05, alpha: 0.05, ...more },
  }
}

/** Begins and scores turns of one user, one after the other. */
export async function serve(
  { rollouts }: RolloutStoreParts,
  owner: string,
  scores: readonly (number | undefined)[],
  isCanary = true,
) {
  for (const [i, score] of scores.entries()) {
    await rollouts.begin(turnOf(`${owner} ${i}`, { isCanary }, { owner }))
    await rollouts.score(tone, runOf(`${owner} ${i}`, { owner }), score)
  }
}

export async function look({ rollouts }: RolloutStoreParts, rollout = tone) {
  const state = await rollouts.look(rollout)
  if (state === undefined) throw new Nonconformance(`look() returns the rollout "${rollout}", but returned undefined.`)
  return state
}

/** Returns the number of users with each score that somebody has, and the other counts if they are not zero. */
export function countsOf(arm: RolloutArm): Readonly<Record<string, number>> {
  const { scores, usersWithoutScore, turns, turnsWithoutScore } = arm
  const users = Object.fromEntries(scores.flatMap((count, tenth) => (count === 0 ? [] : [[`${tenth}/10`, count]])))
  return { ...users, usersWithoutScore, turns, turnsWithoutScore }
}

/** How many users have counted in both arms. */
export function usersOf({ canary, baseline }: { canary: RolloutArm; baseline: RolloutArm }): number {
  return [canary, baseline].reduce(
    (sum, { scores, usersWithoutScore }) => sum + usersWithoutScore + scores.reduce((a, b) => a + b, 0),
    0,
  )
}

/** A run of an owner that begins now. */
export async function writer(
  { sessions, other, lease, wait }: RolloutBench,
  owner: string = chat.owner,
): Promise<Writer> {
  const since = await nowOf({ store: sessions, other: other.sessions, lease, wait })
  return { tenant: chat.tenant, owner, since }
}
