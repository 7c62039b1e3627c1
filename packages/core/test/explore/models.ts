import type { AnyTool, Model, ModelChunk, ModelRequest, ResolveModel, ToolExecution } from '../../src/index.ts'
import { ticks } from './case.ts'
import { Planned } from './label.ts'
import type { Story } from './story.ts'

/** A model that does what the case says at each of its calls. */
export function modelOf(story: Story, name: string): Model {
  return {
    id: name,
    stream(request) {
      if (story.calm && isNext(request)) return story.opened(nextAnswer(story))
      const n = story.count(name)
      story.called(`${name} ${marksIn(request.messages)}`)
      return story.opened(answer(story, name, n))
    },
  }
}

async function* answer(story: Story, name: string, n: number): AsyncGenerator<ModelChunk> {
  const plan = story.plan.models[name]
  const script = plan?.calls[Math.min(n, plan.calls.length - 1)]
  if (script === undefined) throw new Error(`No model ${name}.`)
  const wait = (coarse: number, i: number) => story.clock.wait(ticks(coarse, `${name} ${n} ${i}`))
  await wait(script.after, 0)
  yield* story.extras.before?.(`${name}-${n}-p`) ?? []
  for (const [i, delta] of script.chunks.entries()) {
    await story.noise()
    yield { type: 'text-delta', delta }
    await wait(script.gap, i + 1)
  }
  await story.noise()
  if (script.end === 'hang') await new Promise(() => {})
  if (script.end === 'throw') throw new Planned(`${name} fails`)
  if (script.end === 'cut') return
  for (const [i, tool] of (script.asks ?? []).entries()) {
    const callId = `${name}-${n}-${i}`
    yield { type: 'tool-input-start', callId, name: tool }
    yield { type: 'tool-input-delta', callId, delta: '{"marks":[]}' }
    yield { type: 'tool-input-end', callId }
  }
  const reason = script.asks === undefined ? 'stop' : 'tool-calls'
  yield { type: 'finish', reason, usage: { inputTokens: 10, outputTokens: 5 } }
}

/** The call of the turn after that of the case. */
const isNext = ({ messages }: ModelRequest) => messages.some(({ content }) => content === 'again')

async function* nextAnswer({ clock, nextTakes }: Story): AsyncGenerator<ModelChunk> {
  await clock.wait(ticks(nextTakes, 'next'))
  yield { type: 'text-delta', delta: 'next' }
  yield { type: 'finish', reason: 'stop', usage: {} }
}

/** Layers mark a request by messages of their own. */
export function marksIn(messages: ModelRequest['messages']): string[] {
  return messages.flatMap(({ content }) =>
    typeof content === 'string' && content.startsWith('#') ? [content.slice(1)] : [],
  )
}

/** Finds models that are named by a string, late or never. */
export function resolverOf(story: Story): ResolveModel {
  return async (name) => {
    const found = story.plan.models[name]?.found
    if (found === undefined) return modelOf(story, name)
    await story.clock.wait(ticks(found.after, `found ${name} ${story.count(`found ${name}`)}`))
    await story.noise()
    if (found.how === 'never') await new Promise(() => {})
    if (found.how === 'fails') throw new Planned(`not found ${name}`)
    return modelOf(story, name)
  }
}

export function toolOf(story: Story, name: string): AnyTool {
  const plan = story.plan.tools[name]
  return {
    name,
    description: name,
    jsonSchema: { type: 'object' },
    ...(plan?.timeout !== undefined && { timeout: plan.timeout * 2 ** 30 }),
    async execute({ marks }: { marks: string[] }, ctx: ToolExecution) {
      const key = `t${ctx.callId}`
      const n = story.count(`tool ${name} ${key}`)
      const script = plan?.calls[Math.min(n, plan.calls.length - 1)]
      if (script === undefined) throw new Error(`No tool ${name}.`)
      story.called(`${name} ${marks.join()}`)
      await story.noise()
      if (script.end === 'hang') await new Promise(() => {})
      await story.clock.wait(ticks(script.takes, `${name} ${key} ${n}`), script.deaf ? undefined : ctx.signal)
      if (script.end === 'throw') throw new Planned(`${name} fails`)
      return `${name}(${marks.join()})`
    },
  }
}
