import type { ToolItem } from '../store/answer.ts'
import { callName } from '../store/call-name.ts'
import { brief, pretty } from './format.ts'
import { Block, thrown } from './span-details.tsx'

/** A tool call with its arguments and its result, which open on a click. */
export function ToolCard({ tool, error }: { tool: ToolItem; error: string | undefined }) {
  const { name, callId, args, result, status } = tool
  return (
    <details class="card tool">
      <summary>
        <span class="tool-name">{callName(name, callId, args)}</span>
        <code class="args">{brief(args, 80)}</code>
        <span class={`badge ${status}`}>{status}</span>
      </summary>
      <div class="label">Arguments</div>
      <pre tabIndex={0}>{pretty(args)}</pre>
      <div class="label">Result, as the model receives it</div>
      <pre tabIndex={0}>{result === undefined ? 'none yet' : result}</pre>
      {error !== undefined && <Block title={thrown} text={error} />}
    </details>
  )
}
