import { instructions } from './mock.mjs'

/** A conversation of the hand-written loop. */
export const conversation = () => [{ role: 'system', content: instructions }]

/**
 * What one would write without a framework: streams the answer, parses and checks the arguments, runs the tools in
 * parallel, adds usage, keeps the messages.
 *
 * @param {{ model: object, tools?: Map<string, object>, maps?: Function[], pipes?: Function[] }} setup
 * @param {object[]} messages the conversation; the turn is added to it
 * @param {string} input
 */
export async function loop({ model, tools, maps = [], pipes = [] }, messages, input) {
  const usage = { inputTokens: 0, outputTokens: 0 }
  messages.push({ role: 'user', content: input })
  for (let step = 0; step < 25; step++) {
    const { text, inputs } = await answer({ model, maps, pipes }, messages, usage)
    if (inputs === undefined) {
      messages.push({ role: 'assistant', content: text })
      return { text, messages, usage }
    }
    const calls = [...inputs.values()].map(({ callId, name, json }) => ({ callId, name, args: JSON.parse(json) }))
    messages.push({ role: 'assistant', content: calls.map((call) => ({ type: 'tool-call', ...call })) })
    messages.push({ role: 'tool', content: await Promise.all(calls.map((call) => result(tools.get(call.name), call))) })
  }
}

async function answer({ model, maps, pipes }, messages, usage) {
  let text = ''
  let inputs
  const stream = pipes.reduce((inner, pipe) => pipe(inner), model.stream({ messages }))
  for await (let chunk of stream) {
    for (const map of maps) if (chunk.type !== 'finish') chunk = map(chunk)
    if (chunk.type === 'text-delta') text += chunk.delta
    else if (chunk.type === 'tool-input-start') {
      inputs ??= new Map()
      inputs.set(chunk.callId, { callId: chunk.callId, name: chunk.name, json: '' })
    } else if (chunk.type === 'tool-input-delta') inputs.get(chunk.callId).json += chunk.delta
    else if (chunk.type === 'finish') {
      usage.inputTokens += chunk.usage.inputTokens
      usage.outputTokens += chunk.usage.outputTokens
    }
  }
  return { text, inputs }
}

async function result({ schema, execute }, { callId, name, args }) {
  return { type: 'tool-result', callId, name, content: await execute(schema.parse(args)) }
}
