import fc from 'fast-check'
import type { Build } from './builds.ts'

/** A run of one build whose process is lost after some records, and another build that takes it over. */
export interface DeployCase {
  readonly before: Build
  readonly after: Build
  /** How many steps are recorded before the process is lost. */
  readonly dieAfter: number
}

const layerNames = fc.uniqueArray(fc.constantFrom('watch', 'fee', 'again', 'cap'), { minLength: 1, maxLength: 3 })

const before: fc.Arbitrary<Build> = fc.record({
  layers: fc
    .tuple(layerNames, fc.constantFrom(true, true, false))
    .map(([names, isGuarded]) => (isGuarded ? [...names, 'quiet'] : names)),
  schema: fc.constant({}),
  requireApproval: fc.constant(false),
  mail: fc.constant('mail'),
  model: fc.constant('scripted/model'),
})

type Change = (build: Build, names: readonly string[]) => Build

const replace =
  (from: string, to: string): Change =>
  (build) => ({ ...build, layers: build.layers.map((name) => (name === from ? to : name)) })

const none: Change = (build) => build
/** One change of a build. Some do nothing to a build without a certain layer. */
const changes = {
  add: (build, names) => ({
    ...build,
    layers: [...names, ...build.layers.filter((name) => !names.includes(name))],
  }),
  remove: (build) => ({ ...build, layers: build.layers.slice(1) }),
  reorder: (build) => ({ ...build, layers: build.layers.toReversed() }),
  rename: replace('watch', 'seen'),
  policy: replace('quiet', 'policy'),
  option: replace('watch', 'watch2'),
  budget: replace('cap', 'cap2'),
  schema: (build) => ({ ...build, schema: { type: 'object' } }),
  tool: (build) => ({ ...build, mail: 'post' }),
  approval: (build) => ({ ...build, requireApproval: true }),
  model: (build) => ({ ...build, model: 'scripted/next' }),
} satisfies Readonly<Record<string, Change>>

/** Only the body of a policy differs, so only the replay can find that change. */
const anyChange = fc.constantFrom<Change>(none, ...Object.values(changes), changes.policy, changes.policy)

export const deployCases: fc.Arbitrary<DeployCase> = fc
  .tuple(before, anyChange, layerNames, fc.integer({ min: 2, max: 6 }))
  .map(([build, change, names, dieAfter]) => {
    const changed = change(build, names)
    const isSame = change !== none && JSON.stringify(changed) === JSON.stringify(build)
    return { before: build, after: isSame ? changes.add(build, names) : changed, dieAfter }
  })
