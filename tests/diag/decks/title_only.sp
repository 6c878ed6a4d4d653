only a title
