import type { Act, Case, LayerPlan, ModelCallPlan } from './case.ts'

/*
 * Every stack of three layers, each with one action on the way in and one on the way out, over every end of the model and
 * every order in which waits come to their end: 64³ × 4 × 3 = 3,145,728 cases.
 */
const actions = ['pass', 'change', 'decide', 'throw', 'retry', 'deadline', 'replace', 'late'] as const
type Action = (typeof actions)[number]

const ends: readonly Partial<ModelCallPlan>[] = [
  { end: 'finish' },
  { end: 'throw' },
  { end: 'cut', chunks: [] },
  { end: 'finish', after: 9 },
]
/** How long a model, a deadline, and what is late take. */
const orders: readonly { model: number; deadline: number; late: number }[] = [
  { model: 2, deadline: 5, late: 12 },
  { model: 6, deadline: 3, late: 4 },
  { model: 4, deadline: 7, late: 2 },
]

export const exhaustiveCases = actions.length ** 6 * ends.length * orders.length

export function exhaustive(index: number): Case {
  let rest = index
  const digit = (base: number) => {
    const at = rest % base
    rest = Math.floor(rest / base)
    return at
  }
  const order = orders[digit(orders.length)] as (typeof orders)[0]
  const end = ends[digit(ends.length)]
  const model = [0, 1, 2].map((i) => layer(i, pick(digit(8)), pick(digit(8)), order))
  const first: ModelCallPlan = { after: order.model, chunks: ['ab', 'c'], gap: 1, end: 'finish', ...end }
  const calls = [first, { ...first, end: 'finish' as const, after: order.model, chunks: ['d'] }]
  return { turn: [], model, tool: [], models: { m0: { calls } }, tools: {}, reader: 'none' }
}

const pick = (at: number): Action => actions[at] ?? 'pass'

function layer(i: number, onWayIn: Action, onWayOut: Action, { deadline, late }: (typeof orders)[0]): LayerPlan {
  const has = (action: Action) => onWayIn === action || onWayOut === action
  const next: Act = { do: 'next', ...(has('deadline') && { within: deadline + i }) }
  const again: Act = { do: 'try', acts: [next], catch: [{ do: 'next' }] }
  const reenters = onWayOut === 'retry'
  const acts: Act[] = [
    ...(has('replace') ? [{ do: 'hold' as const }] : []),
    ...wayIn(onWayIn, late + i),
    ...(has('retry') && !reenters ? [again] : [next]),
    ...wayOut(onWayOut, late + i),
    ...(onWayOut === 'replace' ? [{ do: 'return' as const, what: 'own' as const }] : []),
    ...(onWayIn === 'replace' && onWayOut !== 'replace' ? [{ do: 'return' as const, what: 'rewrite' as const }] : []),
  ]
  return { name: `L${i}`, ...(reenters && { reenters: true as const }), acts }
}

function wayIn(action: Action, late: number): Act[] {
  if (action === 'change') return [{ do: 'mark' }]
  if (action === 'decide') return [{ do: 'skip' }]
  if (action === 'throw') return [{ do: 'wait', for: 1, deaf: true }, { do: 'throw' }]
  if (action === 'late') return [{ do: 'later', after: late, acts: [{ do: 'mark' }, { do: 'emit' }, { do: 'state' }] }]
  return []
}

function wayOut(action: Action, late: number): Act[] {
  if (action === 'change') return [{ do: 'state' }]
  if (action === 'decide') return [{ do: 'block' }]
  if (action === 'throw') return [{ do: 'throw' }]
  if (action === 'retry') return [{ do: 'next' }]
  if (action === 'late')
    return [
      { do: 'later', after: late, acts: [{ do: 'block' }] },
      { do: 'wait', for: 1, deaf: true },
    ]
  return []
}
