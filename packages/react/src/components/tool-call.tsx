import type { ReactNode } from 'react'
import type { ToolPart } from '../store/chat-message.ts'
import { Approval } from './approval.tsx'
import { ArgumentList } from './argument-list.tsx'
import { classNames } from './class-names.ts'
import { useLabels } from './thread-context.ts'

export interface ToolCallProps {
  part: ToolPart
  className?: string | undefined
}

/** A tool call with its state, arguments and result. A call that needs a decision is an `Approval`. */
export function ToolCall({ part, className }: ToolCallProps): ReactNode {
  const labels = useLabels()
  const { name, state, args, result, call } = part
  if (call !== undefined && call.client !== true) return <Approval call={call} isDeciding={state === 'deciding'} />
  return (
    <details className={classNames('allium-tool-call', className)} data-state={state} data-tool={name}>
      <summary>
        {name} <span className="allium-tool-state">{labels.toolState[state]}</span>
      </summary>
      {args !== undefined && <ArgumentList args={args} />}
      {result !== undefined && (
        <div className="allium-result">
          <p>{labels.result}</p>
          <pre>{result}</pre>
        </div>
      )}
    </details>
  )
}
