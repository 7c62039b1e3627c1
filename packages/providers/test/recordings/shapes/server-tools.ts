import { anthropic, anthropicTools, google, googleTools, openaiTools, responses, xai, xaiTools } from '../packages.ts'
import type { Recording } from '../recording.ts'
import { block, callBlock, claude, gemini, item, message, response, textBlock } from '../wire.ts'

const result = {
  type: 'web_search_result',
  url: 'https://a.example',
  title: 'A',
  encrypted_content: 'enc',
  page_age: null,
}
const location = {
  type: 'web_search_result_location',
  cited_text: 'It is.',
  url: 'https://a.example',
  title: 'A',
  encrypted_index: 'i',
}

/** Tools that the provider runs, and whose results stand in the same answer. */
export const recordings: Recording[] = [
  {
    name: 'anthropic web search',
    models: anthropic(),
    tools: (version) => ({
      [version === 'v2' ? 'web_search' : 'search']: anthropicTools[version].webSearch_20250305({ maxUses: 2 }),
    }),
    answers: [
      claude('end_turn', [
        textBlock('I look it up.'),
        callBlock({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search' }, { query: 'allium' }),
        block({ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [result] }),
        textBlock('It is a genus.', { type: 'citations_delta', citation: location }),
      ]),
    ],
  },
  {
    name: 'anthropic web search that fails',
    models: anthropic(),
    tools: (version) => ({ web_search: anthropicTools[version].webSearch_20250305({}) }),
    answers: [
      claude('end_turn', [
        callBlock({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search' }, { query: 'allium' }),
        block({
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
        }),
        textBlock('No more.'),
      ]),
    ],
  },
  {
    name: 'anthropic web fetch',
    models: anthropic(),
    tools: (version) => ({ web_fetch: anthropicTools[version].webFetch_20250910({}) }),
    answers: [
      claude('end_turn', [
        callBlock({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_fetch' }, { url: 'https://a.example' }),
        block({
          type: 'web_fetch_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: {
            type: 'web_fetch_result',
            url: 'https://a.example',
            retrieved_at: '2030-01-01T00:00:00Z',
            content: { type: 'document', title: 'A', source: { type: 'text', media_type: 'text/plain', data: 'Hi' } },
          },
        }),
        textBlock('It says hi.'),
      ]),
    ],
  },
  {
    name: 'openai web search',
    models: responses(),
    tools: (version) => ({ web_search: openaiTools[version].webSearch({}) }),
    answers: [
      response(
        ...item(
          0,
          { type: 'web_search_call', id: 'ws_1', status: 'in_progress' },
          {
            status: 'completed',
            action: { type: 'search', query: 'allium', sources: [{ type: 'url', url: 'https://a.example' }] },
          },
        ),
        ...message(1, 'It is a genus.'),
      ),
    ],
  },
  {
    name: 'openai file search, not stored',
    models: responses(),
    settings: { providerOptions: { openai: { store: false } } },
    tools: (version) => ({ file_search: openaiTools[version].fileSearch({ vectorStoreIds: ['vs_1'] }) }),
    answers: [
      response(
        ...item(
          0,
          { type: 'file_search_call', id: 'fs_1', status: 'in_progress' },
          {
            status: 'completed',
            queries: ['allium'],
            results: [{ attributes: {}, file_id: 'file_1', filename: 'a.txt', score: 0.5, text: 'A genus.' }],
          },
        ),
        ...message(1, 'It is a genus.'),
      ),
    ],
  },
  {
    name: 'openai mcp call',
    models: responses(),
    answers: [
      response(
        ...item(
          0,
          { type: 'mcp_list_tools', id: 'mcpl_1' },
          { server_label: 'docs', tools: [{ name: 'ask', input_schema: {} }] },
        ),
        ...item(
          1,
          { type: 'mcp_call', id: 'mcp_1', status: 'in_progress' },
          { status: 'completed', arguments: '{"q":"x"}', name: 'ask', server_label: 'docs', output: 'found' },
        ),
        ...message(2, 'Found.'),
      ),
    ],
  },
  {
    name: 'xai web search',
    models: { v3: xai().v3!, v4: xai().v4! },
    tools: (version) => ({ web_search: version === 'v2' ? undefined : xaiTools[version].webSearch({}) }),
    answers: [
      response(
        ...item(
          0,
          {
            type: 'web_search_call',
            id: 'ws_1',
            name: 'web_search',
            arguments: '{"query":"allium"}',
            call_id: '',
            status: 'in_progress',
          },
          { status: 'completed', action: { type: 'search', query: 'allium', sources: [] } },
        ),
        ...item(
          1,
          {
            type: 'custom_tool_call',
            id: 'ctc_1',
            name: 'x_keyword_search',
            input: '{"query":"x"}',
            call_id: 'c',
            status: 'in_progress',
          },
          { status: 'completed' },
        ),
        ...message(2, 'It is a genus.'),
      ),
    ],
  },
  {
    name: 'google code execution',
    models: google(),
    tools: (version) => ({ code_execution: googleTools[version].codeExecution({}) }),
    answers: [
      [
        gemini([{ text: 'I compute.' }]),
        gemini([{ executableCode: { language: 'PYTHON', code: 'print(1)' } }]),
        gemini([{ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } }]),
        gemini([{ text: 'It is 1.' }], { finishReason: 'STOP' }),
      ],
    ],
  },
]
