import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { useThread } from './thread-context.ts'

/** A button that answers the last message of the user again. Shown below a finished answer. */
export function Regenerate({ className }: { className?: string | undefined }): ReactNode {
  const { session, labels } = useThread()
  if (session.status !== 'idle' || session.messages.at(-1)?.role !== 'assistant') return null
  return (
    <button type="button" className={classNames('allium-regenerate', className)} onClick={session.regenerate}>
      {labels.regenerate}
    </button>
  )
}
