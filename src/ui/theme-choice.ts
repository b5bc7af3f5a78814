/**
 * Sets the chosen theme before anything is painted. It is a script of its own in the head of the shell, because the
 * program itself runs only after the page has been parsed.
 */

const KEY = 'hawser.theme';

try {
  const chosen = localStorage.getItem(KEY);
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
} catch {
  // A browser that refuses storage follows the system.
}
