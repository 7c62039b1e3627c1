import type { PendingCall } from '@allium/server/client'
import { type MouseEvent, type ReactNode, useId, useState } from 'react'
import { ArgumentList } from './argument-list.tsx'
import { classNames } from './class-names.ts'
import { focusNextDecision } from './focus.ts'
import { useThread } from './thread-context.ts'

export interface ApprovalProps {
  /** A call of `session.pending`. */
  call: PendingCall
  /** The decision was made, and is being sent. @default false */
  isDeciding?: boolean | undefined
  /** Lets the user give a reason for a denial. The model receives it. @default true */
  askReason?: boolean | undefined
  className?: string | undefined
}

/** Asks the user to approve or deny a call. Then the focus moves to the next such call, or to the composer. */
export function Approval({ call, isDeciding = false, askReason = true, className }: ApprovalProps): ReactNode {
  const { session, labels } = useThread()
  const [reason, setReason] = useState('')
  const id = useId()
  const decide = (event: MouseEvent<HTMLElement>, decision: () => void) => {
    if (isDeciding) return
    decision()
    focusNextDecision(event.currentTarget)
  }
  const approve = () => session.approve(call)
  const deny = () => session.deny(call, reason.trim() === '' ? undefined : reason)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset needs a legend, which pages cannot style freely
    <div
      role="group"
      className={classNames('allium-approval', className)}
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-call`}
      aria-busy={isDeciding}
      data-allium-approval=""
      data-tool={call.name}
    >
      <p id={`${id}-title`} className="allium-approval-title">
        {labels.approval(call.name)}
      </p>
      <div id={`${id}-call`}>
        {call.request?.reason !== undefined && <p className="allium-approval-reason">{call.request.reason}</p>}
        <ArgumentList args={call.args} />
      </div>
      {askReason && (
        <label className="allium-deny-reason">
          {labels.reason}
          <input value={reason} onChange={(event) => setReason(event.target.value)} disabled={isDeciding} />
        </label>
      )}
      <button
        type="button"
        className="allium-approve"
        aria-disabled={isDeciding}
        onClick={(event) => decide(event, approve)}
      >
        {labels.approve}
      </button>
      <button type="button" className="allium-deny" aria-disabled={isDeciding} onClick={(event) => decide(event, deny)}>
        {labels.deny}
      </button>
    </div>
  )
}
