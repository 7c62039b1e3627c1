import { useEffect, useState } from 'preact/hooks'

const key = 'allium:theme'

/** Returns the theme: the user's choice in this browser, else that of the system. */
export function useTheme(): { theme: string; toggle(): void } {
  const [chosen, setChosen] = useState(() => localStorage.getItem(key))
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches
  const theme = chosen === 'dark' || chosen === 'light' ? chosen : isDark ? 'dark' : 'light'
  useEffect(() => {
    document.documentElement.dataset.theme = theme
  }, [theme])
  const toggle = () => {
    const next = theme === 'dark' ? 'light' : 'dark'
    localStorage.setItem(key, next)
    setChosen(next)
  }
  return { theme, toggle }
}
