import fc from 'fast-check'
import type { Build, Helper } from './builds.ts'
import { type Change, changes } from './changes.ts'

/** How the new build comes to the run: it accepts the former version, has the same one by mistake, or the run is moved to it. */
export type Way = 'accept' | 'same' | 'migrate'

/** A run of one build whose process is lost after some records, and another build that takes it over. */
export interface DeployCase {
  readonly change: string
  readonly before: Build
  readonly after: Build
  readonly way: Way
  /** How many steps are recorded before the process is lost. */
  readonly dieAfter: number
}

const all = ['watch', 'fee', 'again', 'cap', 'usage', 'quiet', 'welcome', 'receipt', 'stamp', 'judge', 'beside', 'gate']
const layerNames = fc.shuffledSubarray(all, { minLength: 1, maxLength: 5 })

const helper: fc.Arbitrary<Helper> = fc.record({
  layers: fc.constantFrom(
    ['gate', 'quiet', 'welcome'],
    ['welcome', 'stamp', 'quiet', 'gate'],
    ['stamp', 'gate', 'quiet'],
  ),
  look: fc.constant('look'),
  model: fc.constant('scripted/helper'),
  instructions: fc.constant(''),
})

export const builds: fc.Arbitrary<Build> = fc.record({
  layers: layerNames,
  schema: fc.constant({}),
  requireApproval: fc.constant(false),
  mail: fc.constant('mail'),
  model: fc.constant('scripted/model'),
  instructions: fc.constant('Be kind.'),
  description: fc.constant('pay'),
  temperature: fc.constant(0),
  toolConcurrency: fc.constant(10),
  maxSteps: fc.constant(20),
  isParallel: fc.constantFrom(true, false, false),
  helper: fc.option(helper, { nil: undefined }),
})

const change = fc.oneof(...changes.map((group) => fc.constantFrom(...Object.entries(group)))) as fc.Arbitrary<
  [string, Change]
>

export const deployCases: fc.Arbitrary<DeployCase> = fc
  .record({
    ...{ build: builds, change, names: layerNames, helper, dieAfter: fc.integer({ min: 1, max: 20 }) },
    way: fc.constantFrom<Way>('accept', 'same', 'migrate'),
  })
  .map(({ build, change: [name, { needs = [], needsHelper, apply }], names, helper, dieAfter, way }) => {
    const layers = [...build.layers, ...needs.filter((layer) => !build.layers.includes(layer))]
    const isParallel = name === 'one tool at once' || build.isParallel
    const former = { ...build, layers, isParallel, helper: needsHelper ? helper : build.helper }
    return { change: name, before: former, after: apply(former, names), dieAfter, way }
  })
