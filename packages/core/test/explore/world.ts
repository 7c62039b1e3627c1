import {
  Agent,
  type AgentRun,
  type LayerEvent,
  type RunOptions,
  type RunResult,
  type StreamEvent,
} from '../../src/index.ts'
import { type Case, grace, ticks, toolTimeout } from './case.ts'
import { layerOf } from './layer.ts'
import { modelOf, resolverOf, toolOf } from './models.ts'
import type { Outcome } from './outcome.ts'
import { Story } from './story.ts'

/** Tries a case on a real agent, in virtual time; `noise` seeds how many microtasks pass at each await. */
export async function actual(plan: Case, noise = 0): Promise<Outcome & { readonly broken: readonly string[] }> {
  const story = new Story(plan, noise)
  const { clock } = story
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
  const agent = new Agent(setup)
  for (const scope of ['turn', 'model', 'tool'] as const)
    agent.use(plan[scope].map((layer) => layerOf(story, scope, layer)))
  story.listen(agent)
  const session = agent.session()
  const options: RunOptions & { resets?: 'refuse' } = plan.resets === undefined ? {} : { resets: plan.resets }
  const run = session.run('hi', options)
  if (plan.abortAt !== undefined) clock.after(ticks(plan.abortAt, 'abort'), () => run.abort('from outside'))
  const read = plan.reader === 'none' ? undefined : readAll(story, run, plan.reader)
  const ended = settled(run)
  let end: Awaited<typeof ended> | undefined
  void ended.then((value) => {
    end = value
  })
  await clock.toTheEnd(() => end !== undefined)
  if (plan.reader === 'none' && end !== undefined) await readAll(story, run, 'all')
  else if (end !== undefined) await read
  return story.outcome(end, session.history, session.state)
}

async function readAll(story: Story, run: AgentRun<object>, reader: Exclude<Case['reader'], 'none'>): Promise<void> {
  let chunks = 0
  try {
    for await (const event of run as AsyncIterable<StreamEvent | LayerEvent>) {
      story.read(event)
      if (event.type === 'text-delta' && reader !== 'all' && ++chunks === reader.leaves) break
    }
  } catch {
    // a run that failed ends its stream with its error, which the story has from the run
  }
}

async function settled(run: PromiseLike<RunResult<object>>): Promise<{ result?: RunResult<object>; error?: unknown }> {
  try {
    return { result: await run }
  } catch (error) {
    return { error }
  }
}
