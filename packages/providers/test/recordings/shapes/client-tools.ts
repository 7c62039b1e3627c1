import { anthropic, anthropicTools, openaiTools, responses } from '../packages.ts'
import { ours, type Recording } from '../recording.ts'
import { callBlock, claude, item, message, response, textBlock, typed } from '../wire.ts'

const done = response(...message(0, 'Done.'))
const exit = { stdout: 'a.txt\n', stderr: '', outcome: { type: 'exit' as const, exitCode: 0 } }
const operation = { type: 'create_file', path: 'a.txt', diff: '+a' }

/** Tools that the provider defines and that run here: what they give goes back in the provider's own shape. */
export const recordings: Recording[] = [
  ...[{}, { store: false }].flatMap((openai): Recording[] => {
    const stored = 'store' in openai ? ', not stored' : ''
    const settings = { providerOptions: { openai } }
    return [
      {
        name: `openai local shell${stored}`,
        models: responses(),
        settings,
        tools: (version) => ({
          local_shell: openaiTools[version].localShell({ execute: async () => ({ output: 'a.txt' }) }),
        }),
        answers: [
          response(
            ...item(
              0,
              {
                type: 'local_shell_call',
                id: 'lsh_1',
                call_id: 'call_1',
                status: 'in_progress',
                action: { type: 'exec', command: ['ls'], env: {} },
              },
              { status: 'completed' },
            ),
          ),
          done,
        ],
      },
      {
        name: `openai shell${stored}`,
        models: { v3: responses().v3!, v4: responses().v4! },
        settings,
        tools: (version) => ({
          shell:
            version === 'v2' ? undefined : openaiTools[version].shell({ execute: async () => ({ output: [exit] }) }),
        }),
        answers: [
          response(
            ...item(
              0,
              { type: 'shell_call', id: 'sh_1', call_id: 'call_1', status: 'in_progress', action: { commands: [] } },
              { status: 'completed', action: { commands: ['ls'] } },
            ),
          ),
          done,
        ],
      },
      {
        name: `openai apply patch${stored}`,
        models: { v3: responses().v3!, v4: responses().v4! },
        settings,
        tools: (version) => ({
          apply_patch:
            version === 'v2'
              ? undefined
              : openaiTools[version].applyPatch({
                  execute: async () => ({ status: 'completed' as const, output: 'made' }),
                }),
        }),
        answers: [
          response(
            ...item(
              0,
              {
                type: 'apply_patch_call',
                id: 'apc_1',
                call_id: 'call_1',
                status: 'in_progress',
                operation: { ...operation, diff: '' },
              },
              { status: 'completed', operation },
              typed('response.apply_patch_call_operation_diff.delta', {
                item_id: 'apc_1',
                output_index: 0,
                delta: '+a',
              }),
              typed('response.apply_patch_call_operation_diff.done', { item_id: 'apc_1', output_index: 0, diff: '+a' }),
            ),
          ),
          done,
        ],
      },
      {
        name: `openai custom tool, which is given a text${stored}`,
        models: { v3: responses().v3!, v4: responses().v4! },
        settings,
        tools: (version) => ({
          sql:
            version === 'v2'
              ? undefined
              : {
                  ...openaiTools[version].customTool({ name: 'sql', description: 'Asks' } as never),
                  execute: () => 'no rows',
                },
        }),
        answers: [
          response(
            ...item(
              0,
              {
                type: 'custom_tool_call',
                id: 'ctc_1',
                call_id: 'call_1',
                name: 'sql',
                input: '',
                status: 'in_progress',
              },
              { status: 'completed', input: 'SELECT "a"' },
              typed('response.custom_tool_call_input.delta', { item_id: 'ctc_1', output_index: 0, delta: 'SELECT ' }),
              typed('response.custom_tool_call_input.delta', { item_id: 'ctc_1', output_index: 0, delta: '"a"' }),
              typed('response.custom_tool_call_input.done', { item_id: 'ctc_1', output_index: 0, input: 'SELECT "a"' }),
            ),
          ),
          done,
        ],
      },
    ]
  }),
  {
    name: 'openai tool search that runs here',
    models: { v3: responses().v3!, v4: responses().v4! },
    tools: (version) => ({
      tool_search:
        version === 'v2'
          ? undefined
          : openaiTools[version].toolSearch({
              execution: 'client',
              description: 'Finds',
              parameters: { type: 'object' },
              execute: async () => ({ tools: [{ type: 'function', name: 'weather' }] }),
            } as never),
      weather: ours(() => 'fine', { providerOptions: { openai: { deferLoading: true } } }),
    }),
    answers: [
      response(
        ...item(
          0,
          {
            type: 'tool_search_call',
            id: 'ts_1',
            execution: 'client',
            call_id: 'call_1',
            status: 'in_progress',
            arguments: {},
          },
          { status: 'completed', arguments: { goal: 'weather' } },
        ),
      ),
      done,
    ],
  },
  {
    name: 'anthropic bash',
    models: anthropic(),
    tools: (version) => ({ bash: anthropicTools[version].bash_20250124({ execute: async () => 'a.txt' }) }),
    answers: [
      claude('tool_use', [callBlock({ type: 'tool_use', id: 'toolu_1', name: 'bash' }, { command: 'ls' })]),
      claude('end_turn', [textBlock('Done.')]),
    ],
  },
]
