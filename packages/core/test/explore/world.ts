import {
  Agent,
  type AgentRun,
  type LayerEvent,
  type RunOptions,
  type RunResult,
  type StreamEvent,
  type Usable,
} from '../../src/index.ts'
import { type Case, grace, ticks, toolTimeout } from './case.ts'
import { layerOf } from './layer.ts'
import { modelOf, resolverOf, toolOf } from './models.ts'
import type { Outcome } from './outcome.ts'
import { type End, Story } from './story.ts'

export interface Actual {
  /** Undefined where the run never settles. */
  readonly outcome: Outcome | undefined
  /** What does not hold that holds for every case. */
  readonly broken: readonly string[]
}

/** Tries a case on a real agent, in virtual time; `noise` seeds how many microtasks pass at each await. */
export async function actual(plan: Case, noise: number, layers: readonly Usable[] = []): Promise<Actual> {
  const story = new Story(plan, noise)
  // Layers of packs have limits of their own.
  if (layers.length > 0) story.nextTakes = 1
  const { clock, broken } = story
  const session = agentOf(story, layers).session()
  const options: RunOptions & { resets?: 'refuse' } = plan.resets === undefined ? {} : { resets: plan.resets }
  const run = session.run('hi', options)
  if (plan.abortAt !== undefined) clock.after(ticks(plan.abortAt, 'abort'), () => run.abort('from outside'))
  const reading = plan.reader === 'none' ? undefined : readAll(story, run, plan.reader)
  const end = await clock.until(settled(run))
  if (end === undefined) return { outcome: undefined, broken: ['the run never settles', ...broken] }
  await clock.until(reading ?? readAll(story, run, 'all'))
  const history = [...session.history]
  const state = { ...session.state }
  const next = await clock.until(nextTurn(story, session))
  if (next !== 'next') broken.push(`the next turn comes to ${next ?? 'no end'}`)
  const added = session.history.slice(history.length).map(({ role }) => role)
  if (added.join() !== 'user,assistant') broken.push(`the next turn adds ${added}`)
  if (layers.length === 0 && JSON.stringify(session.state) !== JSON.stringify(state))
    broken.push('state changed after turn:end')
  return { outcome: story.outcome(end, history, state), broken }
}

function agentOf(story: Story, layers: readonly Usable[]): Agent {
  const { plan, clock } = story
  const setup = {
    model: modelOf(story, 'm0'),
    resolveModel: resolverOf(story),
    tools: Object.keys(plan.tools).map((name) => toolOf(story, name)),
    clock,
    orderCheck: 'off' as const,
    logger: { warn() {}, error() {} },
    toolTimeout,
    abortGrace: grace,
    ...(plan.toolConcurrency !== undefined && { toolConcurrency: plan.toolConcurrency }),
  }
  const agent = new Agent(setup).use(layers)
  for (const scope of ['turn', 'model', 'tool'] as const)
    agent.use(plan[scope].map((layer) => layerOf(story, scope, layer)))
  story.listen(agent)
  return agent
}

async function readAll(story: Story, run: AgentRun<object>, reader: Exclude<Case['reader'], 'none'>): Promise<void> {
  let chunks = 0
  try {
    for await (const event of run as AsyncIterable<StreamEvent | LayerEvent>) {
      story.read(event)
      if (reader === 'all' || event.type !== 'text-delta') continue
      if ('leaves' in reader && ++chunks === reader.leaves) break
      if ('slow' in reader) await story.clock.wait(ticks(reader.slow, `reader ${++chunks}`))
    }
  } catch {
    // a run that failed ends its stream with its error, which the story has from the run
  }
}

async function settled(run: PromiseLike<RunResult<object>>): Promise<End> {
  try {
    return { result: await run }
  } catch (error) {
    return { error }
  }
}

/** All pass, and the model answers after a while, in which what is late may do its harm. */
async function nextTurn(
  story: Story,
  session: { run(input: string): PromiseLike<RunResult<object>> },
): Promise<string> {
  story.close()
  story.calm = true
  const { result, error } = await settled(session.run('again'))
  return result?.text ?? String(error)
}
