import { type FormEvent, type KeyboardEvent, useState } from 'react'

/** Where one writes. While an answer comes, what is sent steers it, and it can be stopped. */
export function Composer({ busy, send, stop }: { busy: boolean; send(text: string): Promise<boolean>; stop(): void }) {
  const [text, setText] = useState('')
  const submit = async (event?: FormEvent) => {
    event?.preventDefault()
    if (text.trim() === '') return
    setText('')
    // What nobody could hear stays to be sent.
    if (!(await send(text.trim()))) setText(text)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    void submit()
  }
  return (
    <form className="composer" onSubmit={submit}>
      <label className="hidden" htmlFor="message">
        Message
      </label>
      <textarea
        id="message"
        rows={1}
        value={text}
        placeholder={busy ? 'Say more while the answer comes…' : 'Write a message…'}
        onChange={(event) => setText(event.target.value)}
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
