import { useEffect, useState } from 'react'

interface Open {
  id: string
  isNew: boolean
}

/** Returns the id in the address, or a new one. */
export function useOpenChat(): Open & { begin(): void } {
  const [{ id, isNew }, set] = useState(fromAddress)
  useEffect(() => {
    const follow = () => set(fromAddress())
    if (location.hash === '') history.replaceState(null, '', hrefOf(id))
    // The address may have changed between the first drawing and this effect.
    else if (idInAddress() !== id) follow()
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [id])
  const begin = () => {
    const chat = newChat()
    history.pushState(null, '', hrefOf(chat.id))
    set(chat)
  }
  return { id, isNew, begin }
}

export function hrefOf(id: string): string {
  return `#${encodeURIComponent(id)}`
}

function fromAddress(): Open {
  const id = idInAddress()
  return id === '' ? newChat() : { id, isNew: false }
}

function idInAddress(): string {
  return decoded(location.hash.slice(1))
}

function newChat(): Open {
  return { id: crypto.randomUUID(), isNew: true }
}

/** The address may contain any text. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
