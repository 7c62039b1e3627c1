import { type KeyboardEvent, type ReactNode, useId } from 'react'
import { classNames } from './class-names.ts'
import { focusComposer } from './focus.ts'
import { useThread } from './thread-context.ts'

export interface ComposerProps {
  className?: string | undefined
  placeholder?: string | undefined
}

/**
 * The form for inputs. Enter sends, and Shift+Enter starts a new line. While an answer is written, Enter queues the input, and
 * Ctrl+Enter or Command+Enter sends it to the active run.
 */
export function Composer({ className, placeholder }: ComposerProps): ReactNode {
  const { session, labels } = useThread()
  const { draft, status } = session
  const id = useId()
  const isRunning = status === 'sending' || status === 'streaming'
  const submit = (send: (text: string) => void) => {
    if (draft.trim() === '') return
    session.setDraft('')
    send(draft)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter also confirms a suggestion of an input method.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit(event.ctrlKey || event.metaKey ? session.steer : session.send)
  }
  return (
    <form
      className={classNames('allium-composer', className)}
      onSubmit={(event) => {
        event.preventDefault()
        submit(session.send)
        focusComposer(event.currentTarget)
      }}
    >
      <label htmlFor={id}>{labels.composer}</label>
      <textarea
        id={id}
        rows={2}
        value={draft}
        placeholder={placeholder}
        onChange={(event) => session.setDraft(event.target.value)}
        onKeyDown={onKeyDown}
        data-allium-composer=""
      />
      <button type="submit" className="allium-send">
        {isRunning ? labels.queue : labels.send}
      </button>
      {status === 'streaming' && (
        <ActionButton className="allium-steer-button" onAction={() => submit(session.steer)}>
          {labels.steer}
        </ActionButton>
      )}
      {isRunning && (
        <ActionButton className="allium-stop" onAction={() => void session.stop()}>
          {labels.stop}
        </ActionButton>
      )}
    </form>
  )
}

interface ActionButtonProps {
  className: string
  onAction(): void
  children: ReactNode
}

/** A button that does not submit the form. It moves the focus to the text, because the button itself may disappear. */
function ActionButton({ className, onAction, children }: ActionButtonProps): ReactNode {
  return (
    <button
      type="button"
      className={className}
      onClick={(event) => {
        onAction()
        focusComposer(event.currentTarget)
      }}
    >
      {children}
    </button>
  )
}
