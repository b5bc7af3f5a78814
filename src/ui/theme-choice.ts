/** A placeholder: sets the chosen theme before anything is painted. */

const theme = localStorage.getItem('hawser-theme');
if (theme !== null) document.documentElement.dataset['theme'] = theme;
