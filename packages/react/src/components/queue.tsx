import type { ReactNode } from 'react'
import { inputText } from '../store/input.ts'
import { classNames } from './class-names.ts'
import { focusComposer } from './focus.ts'
import { useThread } from './thread-context.ts'

/** The inputs that wait for the end of the active run. Removing one puts its text back into an empty composer. */
export function Queue({ className }: { className?: string | undefined }): ReactNode {
  const { session, labels } = useThread()
  if (session.queue.length === 0) return null
  const remove = (id: string, text: string) => {
    if (session.removeQueued(id) !== undefined && session.draft === '') session.setDraft(text)
  }
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
                remove(id, inputText(input))
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
