// Where the page is, and what of an address it could not read.
return { count: at("count").textContent, title: at("pass-title").textContent, complaint: at("complaint").textContent };
