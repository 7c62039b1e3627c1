import { Agent, type AnyTool, delegate, type ModelChunk, type ToolExecution, type Usable } from '../../src/index.ts'
import { type Case, grace, toolTimeout } from './case.ts'
import { layerOf } from './layer.ts'
import { modelOf, toolOf } from './models.ts'
import { random } from './noise.ts'
import type { Story } from './story.ts'

/** What a case may have beside what the specification knows; of these only what holds for every run is compared. */
export type Kind = 'approval' | 'output' | 'sub-agent' | 'provider tool'

export interface Extras {
  readonly layers?: readonly Usable[]
  /** Instead of the case's own tool of that name. */
  readonly tools?: (story: Story) => readonly AnyTool[]
  readonly options?: object
  /** What a human decides of the calls that wait, of a run that was suspended. */
  readonly decide?: (callId: string) => object
  /** Sent by each model before its first text. */
  readonly before?: (callId: string) => readonly ModelChunk[]
  /** All layers are inherited by sub-agents. */
  readonly inherit?: true
}

export function extrasOf(kind: Kind, seed: number): Extras {
  const next = random(seed)
  switch (kind) {
    case 'approval':
      return {
        tools: (story) => [{ ...toolOf(story, 'a'), requireApproval: true }],
        decide: () => (next() < 0.6 ? { approve: true } : { deny: 'no' }),
      }
    case 'output':
      return { options: { output: { schema: anything, strategy: next() < 0.5 ? 'tool' : 'native' } } }
    case 'sub-agent':
      return { tools: (story) => [delegating(story)], ...(next() < 0.5 && { inherit: true as const }) }
    case 'provider tool':
      return {
        tools: () => [{ name: 'search', description: 'Searches', providerExecuted: { id: 'p.search', args: {} } }],
        before: (callId) => [
          { type: 'tool-input-start', callId, name: 'search', providerExecuted: true },
          { type: 'tool-input-end', callId },
          { type: 'tool-result', callId, name: 'search', content: 'found' },
        ],
      }
  }
}

const anything = {
  '~standard': {
    version: 1 as const,
    vendor: 'case',
    validate: (value: unknown) => ({ value }),
    jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
  },
}

/** The tool "b" hands its work to an agent with a model of its own, and the layers of the case once more. */
function delegating(story: Story): AnyTool {
  const setup = {
    model: modelOf(story, 'm2'),
    name: 'child',
    tools: [toolOf(story, 'a')],
    clock: story.clock,
    orderCheck: 'off' as const,
    logger: { warn() {}, error() {} },
    toolTimeout,
    gracePeriod: grace,
  }
  const child = new Agent(setup).use(
    story.plan.model.map((layer) => layerOf(story, 'model', { ...layer, name: `child-${layer.name}` })),
  )
  return {
    ...toolOf(story, 'b'),
    async execute(_: unknown, ctx: ToolExecution) {
      const result = await delegate(ctx, child, 'task')
      return result?.text ?? 'waits'
    },
  }
}

/** Cases in which a tool is asked for at once, so that what they are about happens. */
export function withTools(plan: Case): Case {
  const { m0 = { calls: [] }, ...models } = plan.models
  const asking = { after: 1, chunks: ['w'], gap: 1, asks: ['a', 'b'], end: 'finish' as const }
  const tools = {
    a: { calls: [{ takes: 3, end: 'value' as const }] },
    b: { calls: [{ takes: 5, end: 'value' as const }] },
  }
  return {
    ...plan,
    models: { ...models, m0: { ...m0, calls: [asking, ...m0.calls] } },
    tools: { ...tools, ...plan.tools },
  }
}
