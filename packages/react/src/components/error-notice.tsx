import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { focusComposer } from './focus.ts'
import { useThread } from './thread-context.ts'

/** The error of the session as an alert, with a button to try again. Inputs that wait after `stop()` have that button, too. */
export function ErrorNotice({ className }: { className?: string | undefined }): ReactNode {
  const { session, labels } = useThread()
  const { error, status, queue } = session
  const isWaiting = status === 'idle' && queue.length > 0
  if (error === undefined && !isWaiting) return null
  return (
    <div className={classNames('allium-error', className)} role="alert" data-code={error?.code}>
      <p>{error?.message ?? labels.queued}</p>
      <button
        type="button"
        className="allium-retry"
        onClick={(event) => {
          focusComposer(event.currentTarget)
          session.retry()
        }}
      >
        {labels.retry}
      </button>
    </div>
  )
}
