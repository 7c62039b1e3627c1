import { useState } from 'preact/hooks'
import { readSse } from './sse.ts'

export function App() {
  const [text, setText] = useState('')
  const [answer, setAnswer] = useState('')
  const submit = async (event: Event) => {
    event.preventDefault()
    setAnswer('')
    const response = await fetch('/api/sessions/first/runs', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ input: text }),
    })
    if (response.body === null) return
    for await (const data of readSse(response.body)) {
      const event = JSON.parse(data) as { type: string; delta?: string }
      if (event.type === 'text-delta') setAnswer((so) => so + event.delta)
    }
  }
  return (
    <main>
      <h1>Allium inspector</h1>
      <p>{answer}</p>
      <form onSubmit={submit}>
        <input aria-label="Message" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <button type="submit">Send</button>
      </form>
    </main>
  )
}
