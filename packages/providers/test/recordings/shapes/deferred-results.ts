import { anthropic, anthropicTools, openaiTools, responses } from '../packages.ts'
import { ours, type Recording } from '../recording.ts'
import { block, callBlock, claude, functionCall, item, message, response, textBlock } from '../wire.ts'

const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
const code = "print(await weather({'city': 'Oslo'}))"
const found = {
  type: 'tool_search_tool_search_result',
  tool_references: [{ type: 'tool_reference', tool_name: 'weather' }],
}
const weather = () => ({ degrees: 7 })

/** Calls that the provider runs, and whose results come with a later answer. */
export const recordings: Recording[] = [
  {
    name: 'anthropic programmatic tool calling',
    models: { v3: anthropic().v3!, v4: anthropic().v4! },
    tools: (version) => ({
      code_execution: version === 'v2' ? undefined : anthropicTools[version].codeExecution_20260120(),
      weather: ours(weather, { providerOptions: { anthropic: { allowedCallers: ['code_execution_20260120'] } } }),
    }),
    answers: [
      claude(
        'tool_use',
        [
          callBlock({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution' }, { code }),
          callBlock({ type: 'tool_use', id: 'toolu_1', name: 'weather', caller }, { city: 'Oslo' }),
        ],
        { delta: { container: { id: 'container_1', expires_at: '2030-01-01T00:00:00Z' } } },
      ),
      claude('end_turn', [
        block({
          type: 'code_execution_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: { type: 'code_execution_result', stdout: '7\n', stderr: '', return_code: 0, content: [] },
        }),
        textBlock('It has 7 degrees.'),
      ]),
    ],
  },
  {
    name: 'anthropic tool search whose result is deferred',
    models: { v3: anthropic().v3!, v4: anthropic().v4! },
    tools: (version) => ({
      tool_search: version === 'v2' ? undefined : anthropicTools[version].toolSearchRegex_20251119(),
      weather: ours(weather, { providerOptions: { anthropic: { deferLoading: true } } }),
      now: ours(() => 'noon'),
    }),
    answers: [
      claude('tool_use', [
        callBlock(
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'tool_search_tool_regex' },
          { pattern: 'weather' },
        ),
        callBlock({ type: 'tool_use', id: 'toolu_1', name: 'now' }, {}),
      ]),
      claude('tool_use', [
        block({ type: 'tool_search_tool_result', tool_use_id: 'srvtoolu_1', content: found }),
        callBlock({ type: 'tool_use', id: 'toolu_2', name: 'weather' }, { city: 'Oslo' }),
      ]),
      claude('end_turn', [textBlock('It has 7 degrees at noon.')]),
    ],
  },
  {
    name: 'anthropic answer that pauses before a result',
    models: { v3: anthropic().v3!, v4: anthropic().v4! },
    tools: (version) => ({ web_search: version === 'v2' ? undefined : anthropicTools[version].webSearch_20250305({}) }),
    answers: [
      claude('pause_turn', [
        textBlock('I look it up.'),
        callBlock({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search' }, { query: 'allium' }),
      ]),
      claude('end_turn', [
        block({
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [{ type: 'web_search_result', url: 'https://a.example', title: 'A', encrypted_content: 'enc' }],
        }),
        textBlock('It is a genus.'),
      ]),
    ],
  },
  {
    name: 'openai programmatic tool calling',
    models: { v4: responses().v4! },
    tools: () => ({
      programmatic_tool_calling: openaiTools.v4.programmaticToolCalling(),
      weather: ours(weather, { providerOptions: { openai: { allowedCallers: ['programmatic'] } } }),
    }),
    answers: [
      response(
        ...item(
          0,
          { type: 'program', id: 'prog_1', call_id: 'call_p', code, fingerprint: 'f' },
          { status: 'completed' },
        ),
        ...functionCall(1, 'call_1', 'weather', { city: 'Oslo' }, { caller: { type: 'program', caller_id: 'call_p' } }),
      ),
      response(
        ...item(0, { type: 'program_output', id: 'po_1', call_id: 'call_p', result: '7', status: 'completed' }, {}),
        ...message(1, 'It has 7 degrees.'),
      ),
    ],
  },
]
