import { anthropic, anthropicTools, openaiTools, responses } from '../packages.ts'
import type { Recording } from '../recording.ts'
import { block, callBlock, claude, item, message, response, textBlock, typed } from '../wire.ts'

const code = 'x = 6 * 7\nprint("it is", x)'
const place = { item_id: 'ci_1', output_index: 0 }

/** Programs that the provider runs, their code streamed. */
export const recordings: Recording[] = [
  {
    name: 'openai code interpreter',
    models: responses(),
    tools: (version) => ({ code_interpreter: openaiTools[version].codeInterpreter({}) }),
    answers: [
      response(
        ...item(
          0,
          {
            type: 'code_interpreter_call',
            id: 'ci_1',
            status: 'in_progress',
            code: '',
            container_id: 'cntr_1',
            outputs: null,
          },
          { status: 'completed', code, outputs: [{ type: 'logs', logs: 'it is 42' }] },
          typed('response.code_interpreter_call.in_progress', place),
          typed('response.code_interpreter_call_code.delta', { ...place, delta: code.slice(0, 10) }),
          typed('response.code_interpreter_call_code.delta', { ...place, delta: code.slice(10) }),
          typed('response.code_interpreter_call_code.done', { ...place, code }),
          typed('response.code_interpreter_call.completed', place),
        ),
        ...message(1, 'It is 42.'),
      ),
    ],
  },
  {
    name: 'anthropic bash and files, in a container',
    models: anthropic(),
    tools: (version) => ({ code_execution: anthropicTools[version].codeExecution_20250825() }),
    answers: [
      claude(
        'end_turn',
        [
          callBlock({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'bash_code_execution' }, { command: 'ls' }),
          block({
            type: 'bash_code_execution_tool_result',
            tool_use_id: 'srvtoolu_1',
            content: { type: 'bash_code_execution_result', stdout: 'a.txt\n', stderr: '', return_code: 0, content: [] },
          }),
          textBlock('There is one file.'),
        ],
        { delta: { container: { id: 'container_1', expires_at: '2030-01-01T00:00:00Z' } } },
      ),
    ],
  },
]
