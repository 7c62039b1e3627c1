import { useEffect, useState } from 'preact/hooks'

/** Whether the palette is open. Ctrl+K or ⌘K opens and closes it. */
export function usePalette(): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
      event.preventDefault()
      setOpen((now) => !now && document.querySelector('dialog[open]') === null)
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  return [isOpen, setOpen]
}
