import { Agent, defineTool, type Model, type SuspendRequest } from '@allium/core'
import type { ScriptedAnswer } from '@allium/testing'
import { silent } from '../kit.ts'
import { answering } from './answering.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const wav = base64('RIFF$\0\0\0WAVEfmt ')

const file = (data: string, mediaType: string): ScriptedAnswer => ({ chunks: [{ type: 'file', data, mediaType }] })

/** A tool that asks the client, and returns its answer. */
function asking(name: string, request: SuspendRequest) {
  return defineTool({
    name,
    description: 'Asks the client.',
    jsonSchema: { type: 'object' },
    execute: (_, ctx) => {
      const { approval } = ctx
      return approval?.data === undefined ? ctx.suspend(request) : JSON.stringify(approval.data)
    },
  })
}

function form(name: string, message: string, properties: Record<string, object>) {
  return asking(name, { question: { message, schema: { type: 'object', properties } } })
}

const text = { type: 'string' }
const userName = form('user_name', 'What is your name?', { name: text })
const color = form('color', 'What is your favorite color?', { color: text })
const confirm = form('confirm', 'Please confirm', { ok: { type: 'boolean' } })
const defaults = form('profile', 'Is this right?', {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
})
const titled = ['1', '2', '3'].map((n) => ({ const: `value${n}`, title: `Choice ${n}` }))
const options = ['option1', 'option2', 'option3']
const enums = form('choices', 'Which ones?', {
  untitledSingle: { type: 'string', enum: options },
  titledSingle: { type: 'string', oneOf: titled },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
  titledMulti: { type: 'array', items: { anyOf: titled } },
})
const sampling = asking('capital_question', {
  mcp: {
    method: 'sampling/createMessage',
    params: {
      messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
      maxTokens: 100,
    },
  },
})
const roots = asking('client_roots', { mcp: { method: 'roots/list', params: {} } })
const clock = defineTool({ name: 'clock', description: 'x', jsonSchema: { type: 'object' }, execute: () => 'Noon.' })

type Tool = ReturnType<typeof asking>

/** Calls these tools, one list after the other, and then answers. */
function calling(last: string, ...rounds: Tool[][]): [Model, Tool[]] {
  const steps = rounds.map((tools, round) => ({
    toolCalls: tools.map(({ name }) => ({ name, callId: `${name}-${round}` })),
  }))
  return [answering(...steps, last), [...new Set(rounds.flat())]]
}

const models: Record<string, Model | [Model, Tool[]]> = {
  test_simple_text: answering('This is a simple text response for testing.'),
  test_image_content: answering(file(png, 'image/png')),
  test_audio_content: answering(file(wav, 'audio/wav')),
  test_embedded_resource: answering(file(base64('This is an embedded resource content.'), 'text/plain')),
  test_multiple_content_types: answering({
    text: 'Multiple content types test:',
    chunks: [
      { type: 'file', data: png, mediaType: 'image/png' },
      { type: 'file', data: base64('{"test":"data","value":123}'), mediaType: 'application/json' },
    ],
  }),
  test_error_handling: answering(new Error('This agent always fails.')),
  test_logging_tool: answering('Nothing is logged.'),
  test_tool_with_progress: [answering({ toolCalls: [{ name: 'clock' }] }, 'It is noon.'), [clock]],
  test_sampling: calling('Paris.', [sampling]),
  test_elicitation_sep1034_defaults: calling('Thank you.', [defaults]),
  test_elicitation_sep1330_enums: calling('Thank you.', [enums]),
  test_elicitation: calling('Thank you.', [userName]),
  test_streaming_elicitation: calling('Thank you.', [userName]),
  test_missing_capability: calling('Thank you.', [sampling]),
  test_input_required_result_elicitation: calling('Hello!', [userName]),
  test_input_required_result_sampling: calling('Paris.', [sampling]),
  test_input_required_result_list_roots: calling('One root.', [roots]),
  test_input_required_result_request_state: calling('state-ok', [confirm]),
  test_input_required_result_multiple_inputs: calling('Thank you.', [userName, sampling, roots]),
  test_input_required_result_multi_round: calling('Thank you.', [userName], [color]),
  test_input_required_result_tampered_state: calling('Thank you.', [confirm]),
  test_input_required_result_capabilities: calling('Thank you.', [userName, sampling]),
}

/** Agents with the names of the fixtures of the suite, which answer as these do. */
export function conformanceAgents(): Record<string, Agent> {
  const made = Object.entries(models).map(([name, fixture]) => {
    const [model, tools] = Array.isArray(fixture) ? fixture : [fixture, []]
    return [name, new Agent({ name, model, tools, logger: silent })] as const
  })
  return Object.fromEntries(made)
}
