import { type FormEvent, type ReactNode, useState } from 'react'
import { type ChatMessage, messageText } from '../store/chat-message.ts'
import { focus } from './focus.ts'
import { useEdit, useLabels } from './thread-context.ts'

/** Edits a sent message in place. An edit sends only text, so messages with files have no button. */
export function EditMessage({ message }: { message: ChatMessage }): ReactNode {
  const labels = useLabels()
  const edit = useEdit()
  const [text, setText] = useState<string>()
  if (edit === undefined || message.parts.some(({ type }) => type !== 'text')) return null
  if (text === undefined)
    return (
      <button type="button" className="allium-edit" onClick={() => setText(messageText(message))}>
        {labels.edit}
      </button>
    )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setText(undefined)
    edit(message.id, text)
  }
  return (
    <form className="allium-edit-form" onSubmit={submit}>
      <textarea aria-label={labels.edit} value={text} onChange={(event) => setText(event.target.value)} ref={focus} />
      <button type="submit">{labels.send}</button>
      <button type="button" onClick={() => setText(undefined)}>
        {labels.cancel}
      </button>
    </form>
  )
}
