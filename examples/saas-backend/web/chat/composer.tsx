import { type FormEvent, type KeyboardEvent, useEffect } from 'react'

export interface ComposerProps {
  text: string
  write(text: string): void
  busy: boolean
  send(text: string): void
  stop(): void
}

/** The message box. While an answer streams, a message steers it, and a button stops it. */
export function Composer({ text, write, busy, send, stop }: ComposerProps) {
  useEffect(() => {
    // A chat that loads late must not take the focus from a button of the header.
    if (!document.activeElement?.closest('header')) focusComposer()
  }, [])
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    if (text.trim() !== '') send(text.trim())
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit()
  }
  return (
    <form className="composer" onSubmit={submit}>
      <label className="hidden" htmlFor="message">
        Message
      </label>
      <textarea
        id="message"
        rows={1}
        dir="auto"
        value={text}
        placeholder={busy ? 'Add to your question…' : 'Write a message…'}
        onChange={(event) => write(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {busy && (
        <button type="button" className="stop" onClick={stop}>
          Stop
        </button>
      )}
      <button type="submit" className="primary" disabled={text.trim() === ''}>
        {busy ? 'Steer' : 'Send'}
      </button>
    </form>
  )
}

export function focusComposer(): void {
  document.getElementById('message')?.focus()
}
