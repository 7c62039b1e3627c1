import fc from 'fast-check'

/** The code of a random workflow, as plain data. */
export type Plan = readonly Part[]

export type Part =
  /** @param fails how many attempts fail before one succeeds */
  | { readonly do: 'step'; readonly name: string; readonly fails: number }
  /** @param asks whether the tool of the agent requires an approval */
  | { readonly do: 'agent'; readonly name: string; readonly asks: boolean }
  | { readonly do: 'approval'; readonly name: string }
  | { readonly do: 'sleep'; readonly ms: number }
  /** Depends on how many steps have run before, or on the last decision. */
  | { readonly do: 'if'; readonly on: 'count' | 'decision'; readonly yes: Plan; readonly no: Plan }
  | { readonly do: 'loop'; readonly times: number; readonly body: Plan }
  | { readonly do: 'all'; readonly branches: readonly Plan[] }

const names = fc.constantFrom('a', 'b', 'c', 'd')
const step = fc.record({ do: fc.constant('step' as const), name: names, fails: fc.constantFrom(0, 0, 0, 1) })
const agent = fc.record({ do: fc.constant('agent' as const), name: names, asks: fc.constantFrom(false, false, true) })
const approval = fc.record({ do: fc.constant('approval' as const), name: names })
const sleep = fc.record({ do: fc.constant('sleep' as const), ms: fc.constantFrom(0, 50, 1500) })
const leaf: fc.Arbitrary<Part> = fc.oneof(
  { arbitrary: step, weight: 6 },
  { arbitrary: agent, weight: 2 },
  { arbitrary: approval, weight: 1 },
  { arbitrary: sleep, weight: 1 },
)
const leaves = fc.array(leaf, { minLength: 1, maxLength: 2 })
const nested: fc.Arbitrary<Part> = fc.oneof(
  fc.record({
    ...{ do: fc.constant('if' as const), on: fc.constantFrom('count' as const, 'decision' as const) },
    ...{ yes: leaves, no: leaves },
  }),
  fc.record({ do: fc.constant('loop' as const), times: fc.integer({ min: 0, max: 3 }), body: leaves }),
  fc.record({ do: fc.constant('all' as const), branches: fc.array(leaves, { minLength: 2, maxLength: 3 }) }),
)

const plans: fc.Arbitrary<Plan> = fc.array(fc.oneof({ arbitrary: leaf, weight: 2 }, nested), {
  minLength: 2,
  maxLength: 5,
})

/** Another build of a workflow. */
type Change = (plan: Plan, at: number) => Plan

const added: Part = { do: 'step', name: 'new', fails: 0 }

const changes: Readonly<Record<string, Change>> = {
  none: (plan) => plan,
  'a step at the end': (plan) => [...plan, added],
  'a step in front of a part': (plan, at) => [...plan.slice(0, at), added, ...plan.slice(at)],
  'a part less': (plan, at) => [...plan.slice(0, at), ...plan.slice(at + 1)],
  'two parts in another order': (plan, at) => [
    ...plan.slice(0, at),
    ...plan.slice(at, at + 2).reverse(),
    ...plan.slice(at + 2),
  ],
  'another name': (plan, at) => plan.map((part, i) => (i === at && 'name' in part ? { ...part, name: 'new' } : part)),
  'fewer rounds': (plan) =>
    plan.map((part) => (part.do === 'loop' ? { ...part, times: Math.max(0, part.times - 1) } : part)),
  'branches one after the other': (plan) => plan.flatMap((part) => (part.do === 'all' ? part.branches.flat() : [part])),
  'the other way at each branch': (plan) =>
    plan.map((part) => (part.do === 'if' ? { ...part, yes: part.no, no: part.yes } : part)),
}

/** The end of a process. */
export interface Kill {
  /** How many steps are recorded before. */
  readonly after: number
  /** Whether the next record is written, and only its process does not get to know. */
  readonly written: boolean
}

/** A run of a workflow whose processes are killed, and that other builds take over. */
export interface WorkflowCase {
  readonly plan: Plan
  readonly change: string
  readonly at: number
  /** The number of the process from which on the build is another one. */
  readonly deploy: number
  /** Whether the other build has the same version by mistake. */
  readonly sameVersion: boolean
  readonly kills: readonly Kill[]
  /** Whether people decide one call at a time. */
  readonly oneByOne: boolean
  readonly denies: boolean
  /** Whether the other build is deployed while the run waits for a decision. */
  readonly deploysWhileWaiting: boolean
}

export const workflowCases: fc.Arbitrary<WorkflowCase> = fc.record({
  plan: plans,
  change: fc.constantFrom(...Object.keys(changes)),
  at: fc.integer({ min: 0, max: 4 }),
  deploy: fc.integer({ min: 1, max: 3 }),
  sameVersion: fc.boolean(),
  kills: fc.array(fc.record({ after: fc.integer({ min: 0, max: 9 }), written: fc.boolean() }), { maxLength: 3 }),
  oneByOne: fc.boolean(),
  denies: fc.boolean(),
  deploysWhileWaiting: fc.boolean(),
})

export function changed({ plan, change, at }: WorkflowCase): Plan {
  return (changes[change] as Change)(plan, Math.min(at, plan.length - 1))
}
