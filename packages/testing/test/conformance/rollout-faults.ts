import type { RolloutState, RolloutStore, RolloutTurn, SessionStore } from '@allium/store'
import type { RolloutStoreParts } from '../../src/rollouts.ts'

type Fault = [fault: string, breaks: (parts: RolloutStoreParts) => Broken, found: string]
/** The functions of rollouts that a fault replaces, or its sessions. */
export type Broken = Partial<RolloutStore> & { sessions?: SessionStore }

/** Begins turns that differ from those that were given. */
const begun =
  (change: (turn: RolloutTurn) => RolloutTurn) =>
  ({ rollouts }: RolloutStoreParts): Broken => ({ begin: (turn, by) => rollouts.begin(change(turn), by) })
/** Returns states that differ from the stored ones. */
const looked =
  (change: (state: RolloutState) => RolloutState) =>
  ({ rollouts }: RolloutStoreParts): Broken => ({
    look: async (...given) => {
      const state = await rollouts.look(...given)
      return state && change(state)
    },
  })
const inAll = (state: RolloutState, scores: (given: readonly number[]) => number[]): RolloutState => ({
  ...state,
  canary: { ...state.canary, scores: scores(state.canary.scores) },
})
let unique = 0

/** Each fault that a store may have, and the case that must find it. */
export const rolloutFaults: readonly Fault[] = [
  [
    'has every rollout',
    ({ rollouts }) => ({ restart: async (name) => (await rollouts.restart(name)) || true }),
    'has nothing of a rollout that has not begun',
  ],
  [
    'serves everyone with the canary',
    begun((turn) => ({ ...turn, isCanary: true })),
    'counts a user once, with the mean of its turns, in its arm',
  ],
  [
    'counts turns as users',
    begun((turn) => ({ ...turn, user: `${turn.user}${turn.run.turnId}`, turns: 1 })),
    'does not count a user again who comes back after its window',
  ],
  [
    'takes no outcome for 0',
    ({ rollouts }) => ({ score: (name, run, score = 0) => rollouts.score(name, run, score) }),
    'counts turns without an outcome, which are no data, and users who have no other',
  ],
  [
    'rounds down',
    looked((state) => inAll(state, ([a = 0, b = 0, c = 0, d = 0, ...rest]) => [a, b, c + d, 0, ...rest])),
    'rounds a mean between two tenths to one of them',
  ],
  [
    'keeps the first score',
    ({ rollouts }) => {
      const scored = new Set<string>()
      return {
        score: async (name, run, score) =>
          scored.has(run.turnId) || rollouts.score(name, run, scored.add(run.turnId) && score),
      }
    },
    'takes the last score of a turn while the window is open',
  ],
  [
    'counts in each process',
    looked((state) => inAll(state, (scores) => scores.map((count) => Math.ceil(count / 2)))),
    'counts each user once where many turns of many users end at once',
  ],
  [
    'trims names',
    begun((turn) => ({ ...turn, user: turn.user.replace(/\W/g, '') })),
    'keeps rollouts, tenants, users and turns apart, whatever their names are',
  ],
  [
    'takes scores for percents',
    ({ rollouts }) => ({
      score: (name, run, score) => rollouts.score(name, run, score && Math.min(1, Math.abs(score))),
    }),
    'rejects names that are not plain text, and numbers out of their range',
  ],
  [
    'closes a window with its first score',
    begun((turn) => ({ ...turn, turns: 1 })),
    'keeps a window open until it has all its turns and each is scored',
  ],
  [
    'never closes by time',
    begun((turn) => ({ ...turn, windowMs: 1e9 })),
    'closes a window when its time is over, without the user',
  ],
  [
    'closes all at once',
    ({ rollouts }) => ({ look: (name) => rollouts.look(name) }),
    'closes at most as many windows in a look as it is told',
  ],
  [
    'counts in the arm of the last turn',
    looked(({ canary, baseline, ...state }) => ({ ...state, canary: baseline, baseline: canary })),
    'counts a user in the arm of its first turn',
  ],
  [
    'looks for the name of the agent',
    ({ rollouts }) => ({
      score: async (name, run, score) => run.key.agent === 'agent' && rollouts.score(name, run, score),
    }),
    'finds a turn whose agent was renamed',
  ],
  [
    'counts a turn for each begin',
    begun((turn) => ({ ...turn, run: { ...turn.run, turnId: `${turn.run.turnId} ${unique++}` } })),
    'counts a turn once that begins twice, as after a restart',
  ],
  [
    'tells everyone that they stopped it',
    ({ rollouts }) => ({ decide: async (...given) => (await rollouts.decide(...given)) || true }),
    'lets one of many callers stop a round',
  ],
  [
    'counts after a stop',
    ({ rollouts }) => ({ decide: async () => true, look: rollouts.look }),
    'counts nothing in a round that is stopped',
  ],
  [
    'stops a good canary',
    ({ rollouts }) => ({ decide: (name, decision) => rollouts.decide(name, { ...decision, verdict: 'stop' }) }),
    'records once that a canary is good, and may stop it later',
  ],
  [
    'keeps the round at a restart',
    ({ rollouts }) => ({ restart: async (name) => (await rollouts.look(name)) !== undefined }),
    'begins a round without counts, users and settings at a restart',
  ],
  [
    'ignores the round',
    ({ rollouts }) => ({
      decide: async (name, decision) =>
        rollouts.decide(name, { ...decision, round: (await rollouts.look(name))?.round ?? 0 }),
    }),
    'does not end a round that the caller has not looked at',
  ],
  [
    'takes the last settings',
    ({ rollouts }) => {
      let last: Pick<RolloutTurn, 'maxDrop' | 'alpha'>
      return {
        begin: (turn, by) => {
          last = { maxDrop: turn.maxDrop, alpha: turn.alpha }
          return rollouts.begin(turn, by)
        },
        look: async (...given) => ({ ...((await rollouts.look(...given)) as RolloutState), ...last }),
      }
    },
    'keeps the settings of the first turn of a round',
  ],
  [
    'lists them as they came',
    ({ rollouts }) => ({ list: async () => (await rollouts.list()).toReversed() }),
    'lists all rollouts by name, with their counts',
  ],
  [
    'keeps the windows of an erased owner',
    ({ sessions }) => ({ sessions: { ...sessions, erase: async () => 0 } }),
    'erases the open windows of an owner, and of a tenant, and no others',
  ],
  [
    'remembers erased users',
    ({ sessions }) => ({ sessions: { ...sessions, erase: async () => 0 } }),
    'keeps the counts of erased users, which hold nobody, and counts them as new ones',
  ],
  [
    'ignores who writes',
    ({ rollouts }) => ({ begin: (turn) => rollouts.begin(turn) }),
    'rejects the turn of a run that began before its owner or tenant was erased',
  ],
]
