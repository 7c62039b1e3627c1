import type { Build, Helper } from './builds.ts'
import { gates } from './layers.ts'

/** One change of a build. */
export interface Change {
  /** Layers that the former build needs, so that there is something to change. */
  readonly needs?: readonly string[]
  readonly needsHelper?: boolean
  apply(build: Build, names: readonly string[]): Build
}

const replace = (from: string, to: string): Change => ({
  needs: [from],
  apply: (build) => ({ ...build, layers: build.layers.map((name) => (name === from ? to : name)) }),
})
const set = (values: Partial<Build>): Change => ({ apply: (build) => ({ ...build, ...values }) })
const inHelper = (change: (helper: Helper) => Partial<Helper>): Change => ({
  needsHelper: true,
  apply: (build) =>
    build.helper === undefined ? build : { ...build, helper: { ...build.helper, ...change(build.helper) } },
})
const replaceInHelper = (from: string, to: string) =>
  inHelper(({ layers }) => ({ layers: layers.map((name) => (name === from ? to : name)) }))

const ofLayers = {
  none: { apply: (build) => build },
  add: {
    apply: (build, names) => ({
      ...build,
      layers: [...names, ...build.layers.filter((name) => !names.includes(name))],
    }),
  },
  remove: { apply: (build) => ({ ...build, layers: build.layers.slice(1) }) },
  reorder: { needs: ['watch', 'welcome'], apply: (build) => ({ ...build, layers: build.layers.toReversed() }) },
  rename: replace('watch', 'seen'),
  option: replace('watch', 'watch2'),
  budget: replace('cap', 'cap2'),
  'no budget left': replace('cap', 'cap full'),
  policy: replace('quiet', 'policy'),
} satisfies Readonly<Record<string, Change>>

const ofOnce = {
  'welcome renamed': replace('welcome', 'welcome renamed'),
  'welcome per attempt': replace('welcome', 'welcome per attempt'),
  'welcome removed': replace('welcome', 'welcome removed'),
  'welcome in model': replace('welcome', 'welcome in model'),
  'welcome at the end': replace('welcome', 'welcome at the end'),
  'receipt renamed': replace('receipt', 'receipt renamed'),
  'receipt first': replace('receipt', 'receipt first'),
  'stamp renamed': replace('stamp', 'stamp renamed'),
  'stamp afterwards': replace('stamp', 'stamp afterwards'),
  'stamp removed': replace('stamp', 'stamp removed'),
  'fee renamed': replace('fee', 'fee renamed'),
  'judge renamed': replace('judge', 'judge renamed'),
  'judge removed': replace('judge', 'judge removed'),
  'beside renamed': replace('beside', 'beside renamed'),
  'beside removed': replace('beside', 'beside removed'),
} satisfies Readonly<Record<string, Change>>

const ofAgent = {
  schema: set({ schema: { type: 'object', properties: { to: { type: 'string' } } } }),
  tool: set({ mail: 'post' }),
  approval: set({ requireApproval: true }),
  model: set({ model: 'scripted/next' }),
  instructions: set({ instructions: 'Be brief.' }),
  description: set({ description: 'Pays somebody' }),
  settings: set({ temperature: 1 }),
  'one tool at once': set({ toolConcurrency: 1, isParallel: true }),
  'one step': set({ maxSteps: 1 }),
} satisfies Readonly<Record<string, Change>>

const ofHelper = {
  'helper added': {
    apply: (build) => ({
      ...build,
      helper: build.helper ?? { layers: [], look: 'look', model: 'scripted/helper', instructions: '' },
    }),
  },
  'helper removed': { needsHelper: true, apply: ({ helper: _, ...build }) => build },
  'policy of the helper': replaceInHelper('quiet', 'policy'),
  'once of the helper': replaceInHelper('welcome', 'welcome renamed'),
  'stamp of the helper': replaceInHelper('stamp', 'stamp removed'),
  'tool of the helper': inHelper(() => ({ look: 'search' })),
  'model of the helper': inHelper(() => ({ model: 'scripted/next' })),
  'instructions of the helper': inHelper(() => ({ instructions: 'Be brief.' })),
  ...Object.fromEntries(gates.slice(0, 21).map((gate) => [`${gate} in the helper`, replaceInHelper('gate', gate)])),
} satisfies Readonly<Record<string, Change>>

/** The kinds of change, by group. Cases take the groups in turn, so that no large group hides a small one. */
export const changes: readonly Readonly<Record<string, Change>>[] = [
  ofLayers,
  ofOnce,
  ofAgent,
  ofHelper,
  Object.fromEntries(gates.map((gate) => [gate, replace('gate', gate)])),
]
