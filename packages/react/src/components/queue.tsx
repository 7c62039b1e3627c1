import type { ReactNode } from 'react'
import { inputText } from '../store/input.ts'
import { classNames } from './class-names.ts'
import { focusComposer } from './focus.ts'
import { useTakeBack } from './take-back.ts'
import { useThread } from './thread-context.ts'

/** The inputs that wait for the end of the active run. Removing one puts its text back into the composer. */
export function Queue({ className }: { className?: string | undefined }): ReactNode {
  const { session, labels } = useThread()
  const takeBack = useTakeBack()
  if (session.queue.length === 0) return null
  return (
    <ul className={classNames('allium-queue', className)} aria-label={labels.queued}>
      {session.queue.map(({ id, input, mode }) => (
        <li key={id} data-mode={mode}>
          <span>{inputText(input)}</span>
          {mode === 'queue' && (
            <button
              type="button"
              aria-label={labels.removeQueued(inputText(input))}
              onClick={(event) => {
                focusComposer(event.currentTarget)
                takeBack(id)
              }}
            >
              ×
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}
