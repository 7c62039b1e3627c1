import { Agent, type Model } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { type LayerName, layers } from './layers.ts'

/** One line of the trace: entering or leaving a layer, or what happened inside it. */
interface TraceLine {
  readonly depth: number
  readonly layer: LayerName | 'provider'
  readonly text: string
}

export interface Outcome {
  readonly trace: readonly TraceLine[]
  readonly answer: string
  /** What the layer `log` has written, in order. */
  readonly logged: readonly string[]
  readonly calls: number
}

export const input = 'Please write to dana@acme.com.'

/** Runs a real agent with these layers, the first one outermost. The provider fails at its first call. */
export async function runOnion(order: readonly LayerName[]): Promise<Outcome> {
  const trace: TraceLine[] = []
  const logged: string[] = []
  const model = scriptedModel([new Error('503 Service Unavailable'), 'I wrote to them.', 'I wrote to them.'])
  const traced: Model = {
    id: model.id,
    stream(request) {
      trace.push({ depth: order.length, layer: 'provider', text: `receives "${textOf(request.messages.at(-1))}"` })
      return model.stream(request)
    },
  }
  let agent = new Agent({ model: traced })
  for (const [depth, name] of order.entries()) {
    const note = (text: string) => trace.push({ depth, layer: name, text })
    agent = agent.use('model', layers[name].create({ note, log: (line) => logged.push(line) }))
  }
  const answer = await agent.run(input).then(
    ({ text }) => text,
    (error: Error) => error.message,
  )
  return { trace, answer, logged, calls: model.requests.length }
}

export function textOf(message: { readonly content: unknown } | undefined): string {
  return typeof message?.content === 'string' ? message.content : ''
}
