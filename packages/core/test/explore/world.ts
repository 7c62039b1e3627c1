// Loaded before the clock starts: virtual time does not wait for what the agent imports later.
import '../../src/later.ts'
import { Agent, type AgentRun, type LayerEvent, type RunResult, type StreamEvent } from '../../src/index.ts'
import { type Case, grace, ticks, toolTimeout } from './case.ts'
import type { Extras } from './kinds.ts'
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
export async function actual(plan: Case, noise: number, extras: Extras = {}): Promise<Actual> {
  const story = new Story(plan, noise, extras)
  const { clock, broken } = story
  const session = agentOf(story).session()
  const onRetryAfterOutput: object =
    plan.onRetryAfterOutput === undefined ? {} : { onRetryAfterOutput: plan.onRetryAfterOutput }
  let run = session.run('hi', { ...onRetryAfterOutput, ...extras.options })
  if (plan.abortAt !== undefined) clock.after(ticks(plan.abortAt, 'abort'), () => run.abort('from outside'))
  let end = await seen(story, run)
  let from = 0
  if (end?.result?.status === 'suspended' && extras.decide !== undefined) {
    if (story.ran('a') > 0) broken.push('a call ran that nobody had approved')
    from = session.history.length
    story.again()
    const decisions = session.pending.map(({ callId }) => [callId, extras.decide?.(callId)])
    run = session.resume(Object.fromEntries(decisions))
    end = await seen(story, run)
  }
  if (end === undefined) return { outcome: undefined, broken: ['the run never settles', ...broken] }
  const pending = session.pending.map(({ callId }) => callId)
  const after = { history: [...session.history], from, state: { ...session.state }, pending }
  const next = await clock.until(nextTurn(story, session))
  if (next !== 'next') broken.push(`the next turn comes to ${next ?? 'no end'}`)
  const added = session.history.slice(after.history.length).map(({ role }) => role)
  if (added.join() !== 'user,assistant' && pending.length === 0) broken.push(`the next turn adds ${added}`)
  if (extras.layers === undefined && JSON.stringify(session.state) !== JSON.stringify(after.state))
    broken.push('state changed after turn:end')
  return { outcome: story.outcome(end, after), broken }
}

/** A run read as the case says, to its end; undefined where it has none. */
async function seen(story: Story, run: AgentRun<object>): Promise<End | undefined> {
  const { plan, clock } = story
  const reading = plan.reader === 'none' ? undefined : readAll(story, run, plan.reader)
  const end = await clock.until(settled(run))
  if (end !== undefined) await clock.until(reading ?? readAll(story, run, 'all'))
  return end
}

function agentOf(story: Story): Agent {
  const { plan, clock, extras } = story
  const replaced = extras.tools?.(story) ?? []
  const own = Object.keys(plan.tools).filter((name) => !replaced.some((tool) => tool.name === name))
  const setup = {
    model: modelOf(story, 'm0'),
    resolveModel: resolverOf(story),
    tools: [...own.map((name) => toolOf(story, name)), ...replaced],
    clock,
    orderCheck: 'off' as const,
    logger: { warn() {}, error() {} },
    toolTimeout,
    gracePeriod: grace,
    ...(plan.toolConcurrency !== undefined && { toolConcurrency: plan.toolConcurrency }),
  }
  const agent = new Agent(setup).use(extras.layers ?? [])
  for (const scope of ['turn', 'model', 'tool'] as const)
    agent.use(plan[scope].map((layer) => layerOf(story, scope, layer, extras.inherit)))
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
